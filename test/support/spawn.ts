/**
 * Tests start programs with spawnGuarded instead of node's `spawn`, so that they end with the test, even if it fails
 * in a hook, times out or is killed.
 */
export { type GuardedChild, spawnGuarded } from '../../src/devchain/index.ts';
