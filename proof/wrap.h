// SPDX-License-Identifier: BSD-2-Clause
// What a conversion does with a number that lies beyond its type, once around (C11 §6.3.1.3, and gcc for the signed):
// WP tells z3 only what becomes of one that lies within. Included before each file that WP proves.
/*@ axiomatic Wrap {
      axiom wrap_below: \forall integer x; -4294967296 <= x < 0 ==> (unsigned)x == x + 4294967296;
      axiom wrap_above: \forall integer x; 4294967296 <= x < 8589934592 ==> (unsigned)x == x - 4294967296;
      axiom wrap_signed_above: \forall integer x; 2147483648 <= x < 4294967296 ==> (int)x == x - 4294967296;
      axiom wrap_signed_below: \forall integer x; -4294967296 <= x < -2147483648 ==> (int)x == x + 4294967296;
    } */
