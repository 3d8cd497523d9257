/** DNS messages as the hot path reads them (RFC 1035), without making an object of each name. */

// An answer.
export {
  AnswerKind,
  answerKind,
  expandName,
  isResponse,
  negativeZone,
  rcodeOf,
  readAnswer,
  skipName,
} from './answer.ts';
// Names and types between wire and text, off the packet path.
export { unescaped } from './escapes.ts';
export { BadNameError, nameToText, nameToWire } from './name.ts';
export { type HashKey, networkHash } from './nameHash.ts';
export {
  haveOtherTypes,
  QueryType,
  TYPES_WITH_BIT,
  typeBit,
  typeName,
  typeNames,
  typeNumber,
} from './queryTypes.ts';
// A query, read in one pass.
export {
  HEADER_BYTES,
  MAX_QUERY_BYTES,
  Question,
  questionSuffix,
  ReadResult,
  readHeader,
  readQuery,
  readQuestionSection,
  readResultNames,
  readUint16,
} from './question.ts';
export { queryPacket, questionOf, questionOfWire } from './questionOf.ts';
