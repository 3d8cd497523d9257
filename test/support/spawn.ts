/**
 * Programs that tests run are started with this and not with node's own `spawn`: they end with the test that started them,
 * also where that fails in a hook, runs into its time, or is killed.
 */
export { type GuardedChild, spawnGuarded } from '../../src/devchain/index.ts';
