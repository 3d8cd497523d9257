export { type Entry, LinkedList } from './linkedList.ts';
