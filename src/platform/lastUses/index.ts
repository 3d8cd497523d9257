/** When tokens, keys and the like were used last: seen in memory, written now and then, whatever store has it. */
export { LastUses } from './lastUses.ts';
