// SPDX-License-Identifier: BSD-2-Clause
// The stack on an interface whose driver is yours: it answers ARP and ping once the two functions that are marked do
// something.
#include <stdlib.h>
#include <weir.h>

static struct weir_port port;
static struct weir_driver driver;
static struct weir_netif netif;
static struct weir *weir;

// micros() begins anew every 71 minutes; the stack's clock may not.
static uint64_t now_us() {
  static uint64_t now;
  return now += (uint32_t)((uint32_t)micros() - (uint32_t)now);
}

static void entropy(void *context, void *out, size_t bytes) {
  (void)context;
  for (size_t i = 0; i < bytes; i++)
    static_cast<uint8_t *>(out)[i] = (uint8_t)random(256);  // YOURS: of a hardware source
}

static enum weir_tx_verdict transmit(struct weir_netif *, const struct weir_tx *tx) {
  for (uint32_t i = 0; i < tx->count; i++) {
    // YOURS: hand tx->slices[i].data and .length to the MAC
  }
  return WEIR_TX_DONE;
}

void setup() {
  const size_t bytes = weir_size(NULL);
  Serial.begin(115200);
  port.entropy = entropy;
  driver.tx = transmit;
  weir = weir_create(malloc(bytes), bytes, &port, NULL);
  if (!weir) {
    Serial.print("weir: no memory; bytes needed: ");
    Serial.println((unsigned long)bytes);
    return;
  }
  weir_netif_init(&netif, "eth0", &driver, &weir_link_ethernet);
  netif.mac[0] = 2;
  netif.mac[5] = 1;
  if (weir_netif_add(weir, &netif) < 0 ||
      weir_netif_set_address(&netif, weir_ip4(192, 168, 1, 77), 24, WEIR_ADDRESS_AT_ONCE) < 0)
    Serial.println("weir: no interface");
}

void loop() {
  if (!weir)
    return;
  weir_clock(weir, now_us());
  // YOURS: for each frame that came in, weir_input(&netif, &frame)
  weir_poll(weir, now_us());
}
