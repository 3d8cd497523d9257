/** DNS messages as the hot path reads them (RFC 1035), without making an object of each name. */
export { expandName, isResponse, negativeZone, rcodeOf, skipName } from './answer.ts';
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
  isTransfer,
  MAX_QUERY_BYTES,
  Question,
  questionSuffix,
  ReadResult,
  readQuery,
  readQuestionSection,
  readResultNames,
  readUint16,
} from './question.ts';
export { queryPacket, questionOf, questionOfWire } from './questionOf.ts';
