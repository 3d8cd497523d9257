/**
 * Figures of the DNS guard: `npm run bench:dns`. `npm run bench:dns -- compare` compares all guards, `npm run
 * bench:dns -- start` measures a restart. Each figure is a ratio or a count relative to another one in the same run.
 */
import { benchAttackFree } from './dns/attackFree.ts';
import { compare } from './dns/compare.ts';
import { benchDnsdist } from './dns/dnsdist.ts';
import { benchEmbedded } from './dns/embedded.ts';
import { missing } from './dns/processes.ts';
import { benchRuleInForce } from './dns/ruleInForce.ts';
import { benchStart } from './dns/start.ts';
import { benchVerdict } from './dns/verdict.ts';

const [part, ...rest] = process.argv.slice(2);
if (part === 'compare') {
  await compare(rest);
  process.exit();
}
if (part === 'start') {
  for (const reported of await benchStart()) console.log(reported);
  process.exit();
}

const verdict = benchVerdict();
console.log(`verdict, known name        ${verdict.knownNs.toFixed(0)} ns`);
console.log(`verdict, unknown name      ${verdict.unknownNs.toFixed(0)} ns`);
const [[worst, worstNs] = ['none', 0], ...others] = Object.entries(verdict.malformedNs).sort(
  ([, one], [, other]) => other - one,
);
console.log(`packet that is not a query ${worstNs.toFixed(0)} ns at worst (${worst})`);
console.log(`  ${others.map(([fault, ns]) => `${fault} ${ns.toFixed(0)}`).join(', ')}`);
console.log(
  `profile memory             ${verdict.bytesPerName.toFixed(2)} bytes per name at 1,000,000 names`,
);

const { queries, dropped, attackSeconds } = benchAttackFree();
console.log(
  `attack-free, medium        ${dropped} of ${queries} dropped, ${attackSeconds} s counted as an attack (20 % NXDOMAIN, new names)`,
);

const lacking = missing();
if (lacking.length > 0) {
  console.log(
    `not measured: everything over the network, because ${lacking.join(' and ')} are not installed (apt-get install ${lacking.join(' ')})`,
  );
  process.exit();
}
const embedded = await benchEmbedded();
const { ratio, guardedPerSecond, plainPerSecond } = embedded;
console.log(
  `known names, guard on / off  ${ratio.toFixed(3)} (${guardedPerSecond.toFixed(0)} / ${plainPerSecond.toFixed(0)} queries/s)`,
);
for (const {
  flood,
  node,
  threads,
  guarded,
  sensitivity,
  floodPerSecond,
  legitAnswered,
  legitP99Ms,
} of embedded.floods)
  console.log(
    `flood of ${flood.padEnd(29)} guard ${guarded ? sensitivity.padEnd(6) : 'off   '}  ${threads} thread${threads === 1 ? ' ' : 's'} of Node ${node}  ` +
      `${(legitAnswered * 100).toFixed(2).padStart(6)} % of 500 legitimate queries/s answered, p99 ${legitP99Ms.toFixed(1)} ms ` +
      `(flood ${floodPerSecond.toFixed(0)}/s)`,
  );

for (const { flood, floodPerSecond, legitAnswered, legitP99Ms, refused } of await benchDnsdist())
  console.log(
    `dnsdist, flood of ${flood.padEnd(29)}  ${(legitAnswered * 100).toFixed(2).padStart(6)} % of 500 legitimate queries/s answered, ` +
      `p99 ${legitP99Ms.toFixed(1)} ms, ${(refused * 100).toFixed(2)} % of the flood refused (flood ${floodPerSecond.toFixed(0)}/s)`,
  );

console.log(
  `dnsdist, a changed rule is in force on both of two nodes after at most ${(await benchRuleInForce()).toFixed(0)} ms`,
);
