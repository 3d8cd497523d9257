const waiting: (() => void)[] = [];

/** Has something done once the program has loaded what it needs to run. */
export function whenLoaded(then: () => void): void {
  waiting.push(then);
}

/** To be called once it has. Later calls do nothing. */
export function loaded(): void {
  for (const then of waiting.splice(0)) then();
}
