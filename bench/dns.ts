/** The figures of the DNS guard: `npm run bench:dns`. Each is a ratio or a count against something in the same run. */
import { benchVerdict } from './dns/verdict.ts';

const verdict = benchVerdict();
console.log(`a verdict, known name      ${verdict.knownNs.toFixed(0)} ns`);
console.log(`a verdict, unknown name    ${verdict.unknownNs.toFixed(0)} ns`);
console.log(`a malformed packet         ${verdict.malformedNs.toFixed(0)} ns`);
console.log(`profile memory             ${verdict.bytesPerName.toFixed(2)} bytes a name at 1,000,000 names`);
