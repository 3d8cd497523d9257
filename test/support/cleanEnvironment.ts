/**
 * Returns the environment of the test without FLOODGATE_ variables and without npm's variables, which name the
 * checkout of `npm test`.
 */
export function cleanEnvironment(added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^FLOODGATE_|^npm_/i.test(name));
  return { ...Object.fromEntries(kept), ...added };
}
