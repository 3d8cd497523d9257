/** Minutes of a longer search, in which random tests try all cases. Default: 0, a shorter search. */
export const SEARCH_MINUTES = Number(process.env['FLOODGATE_SEARCH_MINUTES'] ?? 0);

/** Whether all searches and loads run in full. */
export const isCi = !['', 'false', undefined].includes(process.env['CI']);

/**
 * Returns the size of a search, a history or a load: `all` in CI, a smaller one on a developer's machine. The smaller
 * one still finds the faults that the test is for.
 */
export const sizeInCi = <T>(all: T, { elsewhere }: { readonly elsewhere: T }): T =>
  isCi || SEARCH_MINUTES > 0 ? all : elsewhere;
