/** Parser for DNS messages (RFC 1035). The functions that parse and hash each question allocate no objects. */

export {
  AnswerKind,
  answerKind,
  expandName,
  isBareError,
  isResponse,
  negativeZone,
  rcodeName,
  rcodeOf,
  readAnswer,
} from './answer.ts';
export { Edns, OPT_BYTES, OPT_TYPE, questionsEnd } from './edns.ts';
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
  isCookie,
  MAX_QUERY_BYTES,
  Question,
  ReadResult,
  readHeader,
  readQuery,
  readQuestionSection,
  readResultNames,
  suffixHash,
} from './question.ts';
export { queryPacket, questionOf, questionOfWire } from './questionOf.ts';
export { HEADER_BYTES, readUint16, skipName } from './wire.ts';
