import {
  type HashKey,
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  readQuestionSection,
} from '../../../src/dns/protocol/index.ts';

const question = new Question();

/** The question for an address of a name, in the one object that is read into, as a server does, for hundreds of thousands of names. */
export function reusedQuestion(name: string, key: HashKey): Question {
  readQuestionSection(queryPacket(nameToWire(name), QueryType.A), key, question);
  return question;
}
