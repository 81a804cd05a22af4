// SPDX-License-Identifier: BSD-2-Clause
// Mbed TLS's hooks into the program, which carry no context: memory, randomness, both clocks, the calendar.
#include <mbedtls/entropy.h>
#include <mbedtls/platform.h>
#include <mbedtls/platform_time.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/psa_util.h>
#include <psa/crypto.h>

#include "tls/mbedtls/internal.h"

#define DAY_S 86400

const struct tls_services *mbed_services;
static uint32_t users;

static void *allocate(size_t count, size_t bytes)
{
    return bytes && count > SIZE_MAX / bytes ? NULL : mbed_services->alloc(count * bytes);
}

static void give_back(void *memory) { mbed_services->free(memory); }

// Certificates of an unknown time are of the future.
static mbedtls_time_t seconds(mbedtls_time_t *out)
{
    const int64_t now = mbed_services->unix_time();
    const mbedtls_time_t value = now < 0 ? 0 : (mbedtls_time_t)now;
    if (out)
        *out = value;
    return value;
}

mbedtls_ms_time_t mbedtls_ms_time(void) { return (mbedtls_ms_time_t)(mbed_services->now_us() / 1000); }

// The date of a time, for validity periods: a C library's may allocate, or not be for several tasks. Years are counted
// from March, so that a leap day is a year's last: Howard Hinnant's "chrono-compatible low-level date algorithms".
struct tm *mbedtls_platform_gmtime_r(const mbedtls_time_t *tt, struct tm *tm_buf)
{
    const int64_t seconds = *tt, days = seconds / DAY_S + 719468;  // since 0000-03-01
    if (seconds < 0)
        return NULL;
    const int64_t era = days / 146097;  // 400 years
    const int32_t day = (int32_t)(days - era * 146097);
    const int32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const int32_t of_year = day - (365 * year + year / 4 - year / 100);
    const int32_t month = (5 * of_year + 2) / 153;
    const int32_t second = (int32_t)(seconds % DAY_S);
    *tm_buf = (struct tm){.tm_sec = second % 60, .tm_min = second / 60 % 60, .tm_hour = second / 3600};
    tm_buf->tm_mday = of_year - (153 * month + 2) / 5 + 1;
    tm_buf->tm_mon = month < 10 ? month + 2 : month - 10;
    tm_buf->tm_year = (int)(year + era * 400 + (month >= 10) - 1900);
    return tm_buf;
}

// The name and the arguments are the library's (MBEDTLS_ENTROPY_HARDWARE_ALT).
int mbedtls_hardware_poll(void *data, unsigned char *output, size_t length, size_t *written);
int mbedtls_hardware_poll(void *data, unsigned char *output, size_t length, size_t *written)
{
    (void)data;
    *written = length;
    return mbed_services->entropy(output, length);
}

int mbed_random(void *context, unsigned char *out, size_t bytes)
{
    (void)context;
    return mbedtls_psa_get_random(MBEDTLS_PSA_RANDOM_STATE, out, bytes);
}

int mbed_begin(const struct tls_services *services)
{
    if (users == 0) {
        mbed_services = services;
        (void)mbedtls_platform_set_calloc_free(allocate, give_back);
        (void)mbedtls_platform_set_time(seconds);
        const psa_status_t status = psa_crypto_init();
        if (status != PSA_SUCCESS) {
            mbedtls_psa_crypto_free();
            return status == PSA_ERROR_INSUFFICIENT_MEMORY ? WEIR_NO_MEMORY : WEIR_TLS_ENTROPY;
        }
    }
    users++;
    return WEIR_OK;
}

void mbed_end(void)
{
    if (--users == 0)
        mbedtls_psa_crypto_free();
}
