/** Minutes of a longer search, for which random tests try all that they know; some of it where left out. */
export const SEARCH_MINUTES = Number(process.env['FLOODGATE_SEARCH_MINUTES'] ?? 0);

const isCi = !['', 'false', undefined].includes(process.env['CI']);

/**
 * How much a search, a history or a load tries: all of it in CI, a part on a developer's machine. The part is chosen where this is
 * used, and is enough to find what the test is for.
 */
export const inCi = <T>(all: T, { elsewhere }: { readonly elsewhere: T }): T =>
  isCi || SEARCH_MINUTES > 0 ? all : elsewhere;
