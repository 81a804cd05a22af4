// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "http/url.h"

static void urls_are_cut_into_their_parts(void **state)
{
    static const struct {
        const char *text, *host, *path;
        uint16_t port;
        bool secure;
    } good[] = {{"http://a", "a", "/", 80, false},
                {"HTTPS://a.b:8443/c/d?e#f", "a.b", "/c/d?e", 8443, true},
                {"http://a?b", "a", "/?b", 80, false},
                {"http://a:/", "a", "/", 80, false},
                {"http://[2001:db8::1]:81/x", "2001:db8::1", "/x", 81, false},
                {"https://[::1]", "::1", "/", 443, true}};
    static const char *const bad[] = {"",
                                      "a",
                                      "ftp://a/",
                                      "http://",
                                      "http:///a",
                                      "http://a b/",
                                      "http://a\r\nX: y/",
                                      "http://u:p@a/",
                                      "http://a:0/",
                                      "http://a:65536/",
                                      "http://a:8x/",
                                      "http://[::1/",
                                      "http://[::1]x/",
                                      "https://",
                                      "http://a/\xc3\xa4"};
    struct http_url url;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(http_url_parse(good[i].text, &url));
        assert_string_equal(url.host, good[i].host);
        assert_string_equal(url.path, good[i].path);
        assert_true(url.port == good[i].port && url.secure == good[i].secure);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (http_url_parse(bad[i], &url))
            fail_msg("taken: %s", bad[i]);
    }
    char text[1100] = "http://a/";
    memset(text + 9, 'x', 1000);
    assert_false(http_url_parse(text, &url));
    text[5 + HTTP_PATH_MAX] = '\0';
    assert_true(http_url_parse(text, &url));
}

// RFC 3986 §5.4, of which the scheme is ours.
static void references_mean_something_in_their_base(void **state)
{
    static const char *const cases[][2] = {{"g", "/b/c/g"},
                                           {"./g", "/b/c/g"},
                                           {"g/", "/b/c/g/"},
                                           {"/g", "/g"},
                                           {"?y", "/b/c/d;p?y"},
                                           {"g?y", "/b/c/g?y"},
                                           {"#s", "/b/c/d;p?q"},
                                           {"g#s", "/b/c/g"},
                                           {";x", "/b/c/;x"},
                                           {".", "/b/c/"},
                                           {"./", "/b/c/"},
                                           {"..", "/b/"},
                                           {"../g", "/b/g"},
                                           {"../..", "/"},
                                           {"../../g", "/g"},
                                           {"../../../../g", "/g"},
                                           {"/./g", "/g"},
                                           {"/../g", "/g"},
                                           {"g.", "/b/c/g."},
                                           {"..g", "/b/c/..g"},
                                           {"./g/.", "/b/c/g/"},
                                           {"g/../h", "/b/c/h"},
                                           {"g?y/../x", "/b/c/g?y/../x"}};
    struct http_url base, url;
    (void)state;
    assert_true(http_url_parse("http://a/b/c/d;p?q", &base));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(http_url_resolve(&base, cases[i][0], (uint32_t)strlen(cases[i][0]), &url));
        if (strcmp(url.path, cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], url.path);
        assert_true(http_url_same_server(&base, &url));
    }
    assert_true(http_url_resolve(&base, "//g/h", 5, &url));
    assert_string_equal(url.host, "g");
    assert_false(http_url_same_server(&base, &url));
    assert_true(http_url_resolve(&base, "https://A/", 10, &url));
    assert_false(http_url_same_server(&base, &url));
    assert_false(http_url_resolve(&base, "javascript:x", 12, &url));
    assert_false(http_url_resolve(&base, "", 0, &url));
    assert_false(http_url_resolve(&base, "a b", 3, &url));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_cut_into_their_parts),
        cmocka_unit_test(references_mean_something_in_their_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
