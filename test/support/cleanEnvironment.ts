/** The test's variables without those that configure Floodgate. */
export function cleanEnvironment(added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('FLOODGATE_'));
  return { ...Object.fromEntries(kept), ...added };
}
