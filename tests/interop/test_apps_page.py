# SPDX-License-Identifier: BSD-2-Clause
"""The status page in a real browser: headless Chromium at 390 px and on a desktop, light and dark, while traffic flows. Screenshots: build/page/."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
SHOTS = ROOT / "build/page"
LINUX, WEIR = "10.79.0.1", "10.79.0.2"
POINTS = "return Math.max(0, ...[...document.querySelectorAll('.spark polyline')].map(line => line.points.numberOfItems))"


def driver_options(folder, width, height, mobile, dark):
    from selenium.webdriver import ChromeOptions
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}",
                 f"--window-size={max(width, 500)},{height}", "--disable-background-networking"):
        options.add_argument(word)
    if mobile:
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2.0}})
    if dark:
        options.add_argument("--force-dark-mode")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return options


@pytest.fixture(scope="module")
def site():
    """A Weir host with traffic, reached from this process through a small relay (Chromium stays outside of the namespace)."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.fail("chromium and chromium-driver are needed: apt-get install chromium chromium-driver")
    SHOTS.mkdir(parents=True, exist_ok=True)
    with Lab(ROOT / "build/labs/page") as lab:
        linux = lab.namespace("linux")
        if lab.tap(linux, "tap0"):
            where, words = linux, ["--tap", "tap0"]
            linux.address("tap0", f"{LINUX}/24")
        else:
            where, words = lab.namespace("weir"), ["--packet", "eth0"]
            lab.veth(linux, "eth0", where, "eth0")
            linux.address("eth0", f"{LINUX}/24")
        where.start(HOST, *words, "--address", f"{WEIR}/24", "--http-pcap")
        assert until(lambda: "1 received" in linux.run("ping", "-c", "1", "-W", "1", WEIR, check=False), 60)
        relay = linux.popen(sys.executable, str(ROOT / "tests/relay.py"), WEIR, "80", stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, pass_fds=(door := relay_socket(),))
        relay.stdin.write(f"{door}\n")
        relay.stdin.flush()
        address = relay.stdout.readline().strip()
        linux.start("iperf3", "-c", WEIR, "-t", "3600", "-b", "40M")
        assert until(lambda: any(s["received"] > 100_000 for s in flows(status(address))), 60), status(address)
        linux.start("iperf3", "-c", WEIR, "-t", "1")   # is told that the server is busy
        linux.start("curl", "-s", "-o", "/dev/null", "--limit-rate", "3M", f"http://{WEIR}/bytes/20000000000")
        assert until(lambda: flows_are_seen(address), 60, 0.5), status(address)
        yield address


def status(site):
    with urllib.request.urlopen(site + "status.json", timeout=60) as answer:
        return json.load(answer)


def flows(found):
    """The stream that sends most, which is curl's, comes first."""
    return sorted((s for s in found["sockets"] if "sent" in s), key=lambda s: s["sent"], reverse=True)


def flows_are_seen(site):
    """iperf3's and curl's have carried so much that the page has something to show."""
    found = status(site)
    there = flows(found)
    return bool(there) and there[0]["sent"] > 1_000_000 and any(s["received"] > 1_000_000 for s in there) and max(found["rx"], default=0) > 1_000_000


def relay_socket():
    import socket
    door = socket.socket()
    door.bind(("127.0.0.1", 0))
    door.listen(16)
    relay_socket.kept = door   # until the module ends
    return door.fileno()


def open_page(site, name, width, height, mobile, dark):
    from selenium.webdriver import Chrome
    from selenium.webdriver.chrome.service import Service
    folder = ROOT / f"build/page/profile-{os.getpid()}-{name}"
    driver = Chrome(options=driver_options(folder, width, height, mobile, dark), service=Service(shutil.which("chromedriver")))
    if dark:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    driver.get(site)
    return driver, folder


@pytest.mark.parametrize("name,width,height,mobile,dark", [("phone", 390, 844, True, False), ("phone-dark", 390, 844, True, True),
                                                           ("desktop", 1280, 900, False, False), ("desktop-dark", 1280, 900, False, True)])
def test_page(site, name, width, height, mobile, dark):
    driver, folder = open_page(site, name, width, height, mobile, dark)
    try:
        seen = until(lambda: driver.execute_script("return document.querySelectorAll('.sock').length") >= 2, 60, 0.5)
        assert until(lambda: driver.execute_script(POINTS) >= 4, 60, 0.5), "the plots get no points"
        height_all = driver.execute_script("return document.documentElement.scrollHeight")
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": min(height_all, 4000), "deviceScaleFactor": 2 if mobile else 1,
                                                                      "mobile": mobile})
        assert until(lambda: driver.execute_script("return innerWidth") == width, 60)
        before = driver.find_element("id", "about").text
        assert until(lambda: driver.find_element("id", "about").text != before, 60), "the page does not live"   # and is drawn at this size
        driver.save_screenshot(str(SHOTS / f"{name}.png"))
        assert seen, "no connection is shown: " + driver.find_element("tag name", "body").text[:500]
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width, "the page is wider than the screen"
        # (an answer may be late)
        text = until(lambda: "live" in (body := driver.find_element("tag name", "body").text) and body, 60)
        assert text, "the page does not live"
        for word in ("Weir", "live", "INTERFACES", "eth0", f"{WEIR}/24", "ESTABLISHED", "cwnd", "RTT", "retransmits", "LISTEN", "TCP_RECEIVED", "Routes", "on the link", "Neighbours", " of "):
            assert word.lower() in text.lower(), f"{word} is not on the page:\n{text}"
        assert driver.execute_script("return document.querySelectorAll('#plot polyline').length") == 2
        assert driver.execute_script("return [...document.querySelectorAll('.spark polyline')].length") >= 1
        wide = driver.execute_script(WIDER)
        assert not wide, f"beyond the right edge: {wide}"
        background = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(int(c) for c in background[4:-1].split(",")) < 200) == dark
        bad = [line for line in driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        assert not bad, bad
        a_connection_is_seen_over_time(driver, width, name)
        one_peak_does_not_rule_the_scale(driver)
        packets_are_downloaded(driver, folder, name)
        silence_greys_the_figures(driver)
    finally:
        driver.quit()
        shutil.rmtree(folder, ignore_errors=True)


WIDER = """return [...document.querySelectorAll('main *')].filter(e => !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1)
           .map(e => e.className + ' ' + e.textContent.slice(0, 40))"""


def a_connection_is_seen_over_time(driver, width, name):
    """A click on the one that sends most opens its history, a second one ends it; so does the keyboard. One at rest is a line, and can be chosen."""
    busiest = ("return [...document.querySelectorAll('.sock')]"
               ".find(e => /retransmits\\s*[1-9]|cwnd\\s*[1-9]\\d\\d/.test(e.innerText))?.dataset.k")
    key = until(lambda: driver.execute_script(busiest), 60)
    assert key, driver.find_element("id", "sockets").text
    card = "[...document.querySelectorAll('[data-k]')].find(e => e.dataset.k == arguments[0])"
    points = f"return [...{card}.querySelectorAll('.more polyline')].map(line => line.points.numberOfItems)"
    driver.execute_script(f"{card}.click()", key)
    assert until(lambda: len(found := driver.execute_script(points, key)) == 6 and min(found) >= 4, 60), driver.execute_script(points, key)
    text = driver.execute_script(f"return {card}.innerText", key)
    for word in ("cwnd", "in flight", "RTT", "retransmissions a second", "receive window", "unread", "up to"):
        assert word in text, text
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width and not driver.execute_script(WIDER), driver.execute_script(WIDER)
    driver.save_screenshot(str(SHOTS / f"{name}-chosen.png"))
    driver.execute_script(f"{card}.focus()", key)
    before = driver.find_element("id", "about").text
    assert until(lambda: driver.find_element("id", "about").text != before, 60)   # drawn anew, and still under the keyboard
    from selenium.webdriver.common.keys import Keys
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert driver.execute_script(f"return {card}.querySelector('.more') == null", key)
    assert "rcv window" in driver.find_element("id", "sockets").text   # iperf3's connection receives
    assert until(lambda: any("/s" in row.text for row in driver.find_elements("css selector", "#counters tr")), 60), "counters have no rate"
    rest = "return document.querySelectorAll('.quiet[data-k]').length"   # iperf3's control connection
    assert until(lambda: driver.execute_script(rest) >= 1, 60), "no connection at rest is folded"
    driver.execute_script("document.querySelector('.quiet[data-k]').click()")
    assert until(lambda: driver.execute_script("return document.querySelectorAll('.sock .more').length") == 1, 60)


def one_peak_does_not_rule_the_scale(driver):
    """A second of 900 Mbit/s among 119 of 2: 2 Mbit/s are seen well, and the peak is told. Peaks that are the rule are not cut."""
    words = "plot(arguments[0], arguments[1]); return [document.getElementById('plot').textContent, +document.querySelector('#plot polyline').points[0].y]"
    usual, peak = 250_000, 112_500_000
    text, low = driver.execute_script(words, [usual] * 60 + [peak] + [usual] * 59, [0] * 120)
    assert "up to 900" in text and "Gbit" not in text
    _, ruled = driver.execute_script(words, [usual, peak] * 60, [0] * 120)
    assert ruled - low > 30, (low, ruled)   # (y grows downwards)
    assert "up to" not in driver.execute_script(words, [usual] * 120, [0] * 120)[0]


def packets_are_downloaded(driver, folder, name):
    """The button is there, inside the screen, and what it brings is a capture; the page lives on meanwhile."""
    from scapy.all import PcapNgReader
    downloads = folder / "downloads"
    downloads.mkdir()
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    button = driver.find_element("id", "pcap")
    assert button.is_displayed() and "pcapng" in button.text
    button.click()
    assert until(lambda: any(downloads.iterdir()), 60), "no download began"
    before = driver.find_element("id", "about").text
    assert until(lambda: driver.find_element("id", "about").text != before, 60), "the page stands still while packets are downloaded"
    assert until(lambda: [path.name for path in downloads.iterdir()] == ["weir.pcapng"], 60), list(downloads.iterdir())
    packets = list(PcapNgReader(str(downloads / "weir.pcapng")))
    assert len(packets) > 10 and all(packet.time > 1_700_000_000 for packet in packets)
    ports = {port for packet in packets if packet.haslayer("TCP") for port in (packet["TCP"].sport, packet["TCP"].dport)}
    assert {80, 5201} & ports, ports


def silence_greys_the_figures(driver):
    opacity = "return +getComputedStyle(document.querySelector('main > section')).opacity"
    assert until(lambda: driver.execute_script(opacity) == 1, 60)   # (an answer may be late)
    driver.execute_cdp_cmd("Network.enable", {})
    for offline in (True, False):
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
        expected = (True, "no answer") if offline else (False, "live")
        assert until(lambda: (driver.execute_script(opacity) < 1, driver.find_element("id", "live").text) == expected, 60, 0.2), \
            f"offline: {offline}"


def test_status_json_is_json(site):
    found = status(site)
    assert found["version"] and 0 < found["memory"] < found["memory_limit"]
    assert {"to": "10.79.0.0/24", "via": "", "dev": "eth0", "metric": 0} in found["routes"] and not found["routes_more"], found["routes"]
    assert any(row["mac"] and row["state"] in ("REACHABLE", "STALE", "PROBE") for row in found["neighbours"]), found["neighbours"]
    assert found["netifs"][0]["address"] == f"{WEIR}/24"
    first = flows(found)[0]
    assert first["state"] == "ESTABLISHED" and first["cwnd"] > 0 and first["rtt_us"] > 0
    assert first["sent"] > 1_000_000 and any(s["received"] > 1_000_000 for s in flows(found))
