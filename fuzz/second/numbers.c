/* Arithmetic of real types: conversion, rounding, and sums without rounding. */
#include <math.h>

#include "parts.h"

enum { limbs = 35, lowest = -1074 };

double second_value(const struct second_type* type, uint64_t bits) {
  if (type->precision == 53) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
  }
  if (type->precision == 24 || type->precision == 8) {
    const uint32_t low = (uint32_t)(type->precision == 8 ? bits << 16 : bits);
    float number;
    memcpy(&number, &low, sizeof number);
    return number;
  }
  const int exponent = (int)(bits >> 10 & 31);
  const double sign = bits >> 15 ? -1 : 1, fraction = (double)(bits & 1023);
  if (exponent == 31) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
  return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

/* Returns the bits of sign * whole * 2^unit, which is a number of the type or lies beyond its greatest. */
static uint64_t bits_of(const struct second_type* type, bool negative, uint64_t whole, int unit) {
  const int stored_bits = type->precision - 1;
  const uint64_t all = (uint64_t)2 * (uint64_t)type->greatest + 1; /* the exponent field of infinities */
  const uint64_t sign = (uint64_t)negative << (8 * type->bytes - 1), hidden = (uint64_t)1 << stored_bits;
  if (whole == 2 * hidden) {
    whole = hidden;
    ++unit;
  }
  if (whole < hidden) return sign | whole; /* zero, or subnormal: the unit is that of the least number */
  const int exponent = unit - type->least + 1;
  if ((uint64_t)exponent >= all) return sign | all << stored_bits;
  return sign | (uint64_t)exponent << stored_bits | (whole - hidden);
}

static uint64_t special(const struct second_type* type, double number) {
  const uint64_t infinity = ((uint64_t)2 * (uint64_t)type->greatest + 1) << (type->precision - 1);
  if (isnan(number)) return infinity | (uint64_t)1 << (type->precision - 2);
  return infinity | (uint64_t)(number < 0) << (8 * type->bytes - 1);
}

static int greater(int a, int b) { return a > b ? a : b; }

uint64_t second_round(const struct second_type* type, double number) {
  if (!isfinite(number)) return special(type, number);
  if (type->precision == 53) { /* C rounds to float64 and float32 */
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  if (type->precision == 24) {
    const float rounded = (float)number;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
  }
  if (number == 0) return (uint64_t)(signbit(number) != 0) << (8 * type->bytes - 1);
  int exponent;
  frexp(number, &exponent); /* |number| is in [2^(exponent-1), 2^exponent) */
  const int unit = greater(exponent - type->precision, type->least);
  const double whole = nearbyint(ldexp(fabs(number), -unit));
  return bits_of(type, number < 0, (uint64_t)whole, unit);
}

/* Adds sign * whole * 2^exponent. */
static void add(struct second_sum* sum, uint64_t whole, int exponent, bool negative) {
  const unsigned at = (unsigned)(exponent - lowest), shift = at % 64;
  uint64_t part[2] = {whole << shift, shift == 0 ? 0 : whole >> (64 - shift)};
  uint64_t carry = 0;
  for (unsigned i = at / 64, k = 0; i < limbs; ++i, ++k) {
    const uint64_t by = (k < 2 ? part[k] : 0) + carry; /* part[1] is below 2^63 */
    carry = k < 2 && by < carry;
    const uint64_t before = sum->limb[i];
    sum->limb[i] = negative ? before - by : before + by;
    carry += negative ? before < by : sum->limb[i] < before;
    if (carry == 0 && k >= 1) return;
  }
}

void second_add(struct second_sum* sum, double finite, bool negate) {
  if (finite == 0) return;
  int exponent;
  const double fraction = frexp(fabs(finite), &exponent);
  int unit = exponent - 53;
  double whole = ldexp(fraction, 53);
  if (unit < lowest) { /* subnormal: its last bits are zeros */
    whole = ldexp(whole, unit - lowest);
    unit = lowest;
  }
  add(sum, (uint64_t)whole, unit, (finite < 0) != negate);
}

void second_add_product(struct second_sum* sum, double q, double step) {
  if (q == 0 || step == 0) return;
  int exponent;
  const uint64_t whole = (uint64_t)ldexp(frexp(step, &exponent), 53), magnitude = (uint64_t)fabs(q);
  const int unit = exponent - 53;
  const uint64_t a[2] = {magnitude & 0xFFFFFFFFu, magnitude >> 32}, b[2] = {whole & 0x7FFFFFFu, whole >> 27};
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) add(sum, a[i] * b[k], unit + 32 * i + 27 * k, q < 0);
}

static bool bit(const struct second_sum* sum, int at) { return sum->limb[at / 64] >> (at % 64) & 1; }

static bool any_below(const struct second_sum* sum, int at) {
  for (int i = 0; i < at / 64; ++i)
    if (sum->limb[i] != 0) return true;
  return at % 64 != 0 && sum->limb[at / 64] << (64 - at % 64) != 0;
}

uint64_t second_rounded(const struct second_sum* sum, const struct second_type* type) {
  struct second_sum magnitude = *sum;
  const bool negative = sum->limb[limbs - 1] >> 63;
  uint64_t carry = negative;
  for (int i = 0; i < limbs && negative; ++i) {
    magnitude.limb[i] = ~magnitude.limb[i] + carry;
    carry = carry && magnitude.limb[i] == 0;
  }
  int top = limbs - 1;
  while (top >= 0 && magnitude.limb[top] == 0) --top;
  if (top < 0) return 0;
  int highest = 64 * top + 63;
  while (!bit(&magnitude, highest)) --highest;
  const int unit = greater(highest + lowest - type->precision + 1, type->least), at = unit - lowest;
  uint64_t whole = 0;
  for (int i = highest; i >= at; --i) whole = whole << 1 | bit(&magnitude, i);
  if (at > 0 && bit(&magnitude, at - 1) && ((whole & 1) || any_below(&magnitude, at - 1))) ++whole;
  return bits_of(type, negative, whole, unit);
}
