/**
 * Returns the value of a Retry-After header. ethers 5 and 6 read a number without a leading zero as milliseconds, and
 * give up after 12 tries in 0.2 s. With the zero, which RFC 9110 allows, they wait longer after each try.
 */
export const retryAfter = (seconds: number): string => `0${Math.ceil(seconds)}`;
