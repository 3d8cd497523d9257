/**
 * Lua code that runs in dnsdist and builds its rules from rule data (ruleData.ts). The data is never executed as
 * code: its words only select among predefined selectors and actions, and texts are hexadecimal.
 */
import { createHash } from 'node:crypto';
import { outcomes, reasons } from '../../detector/index.ts';
import { TAP_IDENTITY } from './dnstap.ts';
import { NETWORK_BITS } from './lookupFiles/knownNetworks.ts';
import { type Refusal, refusalRule } from './refusals.ts';

/** First line of the rule data. It contains the version of the format. The loader rejects other versions. */
export const RULES_HEAD = 'floodgate rules 3';
/** Line of the rule data. The rules after it apply only to UDP queries, and only if dnsdist has known names. */
export const NAMES_NEEDED = 'names';
export const RULES_FILE = 'rules';
export const NAMES_FILE = 'known.cdb';
export const LEARNED_FILE = 'learned.cdb';
export const NETWORKS_FILE = 'networks.cdb';
/** Names of the tags that a dnsdist rule sets on a query, and later rules read. */
export const TAG = {
  pays: 'floodgate-pays',
  refused: 'floodgate-refused',
  types: 'floodgate-types',
  group: 'floodgate-group',
} as const;
/** Maximum size of the rule data. 4096 zones and the maximum number of busy names need at most half of this size. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum nesting of selectors, because dnsdist evaluates them recursively. No generated rule exceeds it. */
const MAX_DEPTH = 6;

/** Returns the name of the dnsdist rule that counts a verdict. `showRules` prints it. */
export const verdictName = (outcome: string, reason: string): string => `floodgate-${outcome}-${reason}`;
const paying = reasons.filter((reason) => reason !== 'none');

/** Returns the Lua code of a final rule. Updates of the rules reuse its selector object, so its counter continues. */
const counted = (selector: string, action: string, name: string): string =>
  `{"${name}",function() return ${selector} end,${action}}`;
const tag = (name: string, value?: string): string =>
  `TagRule("${name}"${value === undefined ? '' : `,"${value}"`})`;
const ACTIONS: Readonly<Record<string, string>> = {
  dropped: 'DropAction',
  truncated: 'TCAction',
  wouldDrop: 'AllowAction',
};

/** The final rules, one per verdict. Each UDP query that no refusal rejects ends at one, which counts the verdict. */
const VERDICT_ROWS = [
  counted(`NotRule(${tag(TAG.pays)})`, 'AllowAction', verdictName('passed', 'none')),
  ...paying.map((reason) =>
    counted(
      `AndRule({${tag(TAG.pays, reason)},NotRule(${tag(TAG.refused)})})`,
      'AllowAction',
      verdictName(reason === 'accessList' ? 'passed' : 'paid', reason),
    ),
  ),
  ...outcomes
    .filter((outcome) => Object.hasOwn(ACTIONS, outcome))
    .flatMap((outcome) =>
      paying.map((reason) =>
        counted(
          `AndRule({${tag(TAG.pays, reason)},${tag(TAG.refused, outcome)}})`,
          ACTIONS[outcome] ?? '',
          verdictName(outcome, reason),
        ),
      ),
    ),
].join(',\n');

/**
 * Tokens per second and burst of the SERVFAIL answers that dnsdist sends if no server is available. Together they are
 * at most 1,000 in any second, as in the embedded data plane.
 */
const SERVFAILS = 500;

/** Lua code that creates the token bucket of {@link NO_SERVER}, unless it exists. */
export const SERVFAIL_BUCKET = `floodgateServfails=floodgateServfails or MaxQPSRule(${SERVFAILS},${SERVFAILS})`;

/**
 * Drops UDP queries if no server is available and the SERVFAIL answers are used up. Queries that earlier rules limit
 * use none. This rule follows the rule that logs queries, so that Floodgate sees an attack that stops all servers.
 */
export const NO_SERVER: Refusal = {
  name: 'floodgate-no-server',
  selector: `AndRule({NotRule(PoolAvailableRule("")),NotRule(TCPRule(true)),${['dropped', 'truncated']
    .map((outcome) => `NotRule(TagRule("${TAG.refused}","${outcome}"))`)
    .join(',')},NotRule(floodgateServfails)})`,
  action: 'DropAction()',
};

const BODY = `
local counters,buckets=floodgateCounters or {},{}
floodgateCounters=counters
local function text(word)
  if word=="-" then return "" end
  if #word%2~=0 or word:find("[^0-9a-f]") then error("text is not hexadecimal",0) end
  return (word:gsub("..",function(pair) return string.char(tonumber(pair,16)) end))
end
local function reader(line)
  local next=line:gmatch("%S+")
  local this={}
  function this.word() return next() or error("unexpected end of a rule",0) end
  function this.number()
    local number=tonumber(this.word())
    if not number or number<0 or number>4294967295 or number~=math.floor(number) then error("invalid number",0) end
    return number
  end
  function this.texts()
    local list={}
    for i=1,this.number() do list[i]=text(this.word()) end
    return list
  end
  return this
end
local function unknown() return NotRule(KeyValueStoreLookupRule(floodgateKnown,KeyValueLookupKeyQName(true))) end
local selector
local function selectors(from,depth)
  local list={}
  for i=1,from.number() do list[i]=selector(from,depth) end
  return list
end
local kinds={
  ["and"]=function(from,depth) return AndRule(selectors(from,depth)) end,
  ["or"]=function(from,depth) return OrRule(selectors(from,depth)) end,
  ["not"]=function(from,depth) return NotRule(selector(from,depth)) end,
  unknown=unknown,
  learned=function() return KeyValueStoreLookupRule(floodgateLearned,KeyValueLookupKeyQName(true)) end,
  network=function() return KeyValueStoreLookupRule(floodgateNetworks,KeyValueLookupKeySourceIP(${NETWORK_BITS.ipv4},${NETWORK_BITS.ipv6})) end,
  type=function(from) return QTypeRule(from.number()) end,
  tagged=function(from)
    local name,value=text(from.word()),from.word()
    if value=="*" then return TagRule(name) end
    return TagRule(name,text(value))
  end,
  zones=function(from) return makeRule(from.texts()) end,
  names=function(from)
    local set=newDNSNameSet()
    for _,name in ipairs(from.texts()) do set:add(newDNSName(name)) end
    return QNameSetRule(set)
  end,
  from=function(from)
    local group=newNMG()
    for _,network in ipairs(from.texts()) do group:addMask(network) end
    return NetmaskGroupRule(group)
  end,
  client=function(from)
    local rate,burst=from.number(),from.number()
    local key="client "..rate.." "..burst
    buckets[key]=buckets[key] or (floodgateBuckets or {})[key] or MaxQPSIPRule(rate,32,64,burst)
    return buckets[key]
  end,
  beyond=function(from)
    local owner,rate,burst=from.word(),from.number(),from.number()
    local key=owner.." "..rate.." "..burst
    buckets[key]=buckets[key] or (floodgateBuckets or {})[key] or MaxQPSRule(rate,burst)
    return NotRule(buckets[key])
  end,
}
function selector(from,depth)
  if depth==0 then error("selectors are nested too deeply",0) end
  local kind=kinds[from.word()] or error("unknown selector",0)
  return kind(from,depth-1)
end
local actions={
  tag=function(from) return SetTagAction(text(from.word()),text(from.word())) end,
  lookup=function(from) return KeyValueStoreLookupAction(floodgateKnown,KeyValueLookupKeyQName(true),text(from.word())) end,
}
local function ruleOf(line)
  local from=reader(line)
  local name=text(from.word())
  local action=(actions[from.word()] or error("unknown action",0))(from)
  return newRuleAction(selector(from,${MAX_DEPTH}),action,{name=name})
end
local verdicts={
${VERDICT_ROWS}
}
local function store(path)
  local file,why=io.open(path)
  if not file then error(why,0) end
  file:close()
  return newCDBKVStore(path,1)
end
function floodgateApply(refusals,data,folder)
  if not floodgateTap then error("dnsdist.conf does not set floodgateTap; use the output of floodgate dns dnsdist-config",0) end
  if #getTopResponseRules(1)==0 then
    error("dnsdist.conf has no addResponseAction that logs answers to floodgateTap, so Floodgate would learn no names; use the output of floodgate dns dnsdist-config",0)
  end
  if #getServers()>0 and #getPoolServers("")==0 then
    error("dnsdist.conf has servers, but none in the default pool; the rules of Floodgate replace all rules, also those with PoolAction, so use newServer without pool",0)
  end
  if folder and floodgateFolder~=folder then
    local known,learned,networks=store(folder.."/${NAMES_FILE}"),store(folder.."/${LEARNED_FILE}"),store(folder.."/${NETWORKS_FILE}")
    floodgateKnown,floodgateLearned,floodgateNetworks=known,learned,networks
    floodgateFolder=folder
  end
  if #data>${MAX_BYTES} then error("the rule data is too large",0) end
  local rules={}
  local function add(rule) rules[#rules+1]=rule end
  for _,rule in ipairs(refusals) do add(rule) end
  add(newRuleAction(AllRule(),DnstapLogAction("${TAP_IDENTITY}",floodgateTap),{name="floodgate-tap"}))
  buckets={}
  local head,past
  local function endOfAlways()
    past=true
    add(newRuleAction(AndRule({TCPRule(true),TagRule("${TAG.refused}")}),RCodeAction(DNSRCode.REFUSED),{name="floodgate-tcp-refused"}))
    add(newRuleAction(TCPRule(true),AllowAction(),{name="floodgate-tcp"}))
  end
  for line in data:gmatch("[^\\n]+") do
    if not head then
      head=line
      if line~="${RULES_HEAD}" then error("the rule data has an unsupported version",0) end
    elseif line=="${NAMES_NEEDED}" and not past then endOfAlways()
    elseif floodgateKnown or not past then add(ruleOf(line)) end
  end
  if not past then endOfAlways() end
  ${SERVFAIL_BUCKET}
  add(${refusalRule(NO_SERVER)})
  for _,row in ipairs(verdicts) do
    counters[row[1]]=counters[row[1]] or row[2]()
    add(newRuleAction(counters[row[1]],row[3](),{name=row[1]}))
  end
  setRules(rules)
  floodgateBuckets=buckets
end
function floodgateStart(folder,refusals)
  local file=io.open(folder.."/${RULES_FILE}")
  if not file then return end
  local data=file:read(${MAX_BYTES + 1}) or ""
  file:close()
  local done,why=pcall(floodgateApply,refusals,data,folder)
  if done then infolog("floodgate: loaded the last rules")
  else errlog("floodgate: cannot load the last rules, every query passes until Floodgate runs: "..tostring(why)) end
end
`;

const VERSION = createHash('sha256').update(BODY).digest('hex').slice(0, 16);

/** Lua code that defines the functions of the loader, unless dnsdist already has this version of them. */
export const RULES_LOADER = `if floodgateLoader~="${VERSION}" then do${BODY}end floodgateLoader="${VERSION}" end`;
