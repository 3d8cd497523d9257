/** Code with faults that only inputs of one kind reach. */

/** Throws behind several comparisons, of one byte each: to guess them all at once takes more runs than anyone has. */
export function deepFault(input: Uint8Array): void {
  if (input[0] === 0x40)
    if (input[1] === 0x7f)
      if (input[2] === 0x80)
        if (input[3] === 0xc0) if (input[4] === 0xff) throw new Error('the planted fault');
}

/** Takes a step for each pair of the input's bytes. */
export function slowOnes(input: Uint8Array): number {
  let steps = 0;
  for (const one of input) for (const other of input) if (one === other) steps++;
  return steps;
}
