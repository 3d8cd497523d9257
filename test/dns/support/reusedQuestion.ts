import {
  type HashKey,
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  readQuestionSection,
} from '../../../src/dns/protocol/index.ts';

const question = new Question();

/**
 * Returns an A question for the name. The object is reused, as in a server, because tests query hundreds of thousands
 * of names.
 */
export function reusedQuestion(name: string, key: HashKey): Question {
  readQuestionSection(queryPacket(nameToWire(name), QueryType.A), key, question);
  return question;
}
