/** The development chain for tests: the same one that users start with `npm start`. */
export * from '../../src/devchain/index.ts';
