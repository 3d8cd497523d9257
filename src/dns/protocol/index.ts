/** Parser for DNS messages (RFC 1035). The functions that parse and hash each question allocate no objects. */

export {
  AnswerKind,
  answerKind,
  expandName,
  isBareError,
  isResponse,
  negativeZone,
  rcodeOf,
  readAnswer,
  skipName,
} from './answer.ts';
export { unescapeText } from './escapes.ts';
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
export {
  HEADER_BYTES,
  MAX_QUERY_BYTES,
  Question,
  ReadResult,
  readHeader,
  readQuery,
  readQuestionSection,
  readResultNames,
  readUint16,
  suffixHash,
} from './question.ts';
export { queryPacket, questionOf, questionOfWire } from './questionOf.ts';
