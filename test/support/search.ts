/** Minutes of a longer search, for which random tests try all that they know; some of it where left out. */
export const SEARCH_MINUTES = Number(process.env['FLOODGATE_SEARCH_MINUTES'] ?? 0);
