/**
 * The part of ours that runs in dnsdist, as Lua: it makes dnsdist's rules of rules that are written as data (ruleData.ts), from the
 * console or, after a start without Floodgate, from the file in the folder of the names. Nothing of the data is run: its
 * words choose among the selectors and actions below, and names in it are hexadecimal digits.
 */
import { createHash } from 'node:crypto';
import { outcomes, reasons } from '../../detector/index.ts';

/** The first line of the data. Another form of it has another one: a file that an older loader cannot read is left alone. */
export const RULES_HEAD = 'floodgate rules 2';
/** The line before the rules that are carried out only where there are names, and never over TCP. */
export const NAMES_NEEDED = 'names';
/** In the folder of the names, beside them. */
export const RULES_FILE = 'rules';
export const NAMES_FILE = 'known.cdb';
/** The tags by which rules of ours tell each other about a query. */
export const TAG = {
  pays: 'floodgate-pays',
  refused: 'floodgate-refused',
  types: 'floodgate-types',
} as const;
/** 4096 zones and as many busy names as there may be are a fifth of it. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Deeper than any rule of ours; dnsdist asks selectors within selectors by recursion. */
const MAX_DEPTH = 6;

/** What a query gets, and in dnsdist's table of rules the name under which it is counted. */
export const verdictName = (outcome: string, reason: string): string => `floodgate-${outcome}-${reason}`;
const paying = reasons.filter((reason) => reason !== 'none');

/** A rule that ends the way of every query that it is about, and counts it: its selector is kept, so that its count goes on. */
const counted = (selector: string, action: string, name: string): string =>
  `{"${name}",function() return ${selector} end,${action}}`;
const tag = (name: string, value?: string): string =>
  `TagRule("${name}"${value === undefined ? '' : `,"${value}"`})`;
const ACTIONS: Readonly<Record<string, string>> = {
  dropped: 'DropAction',
  truncated: 'TCAction',
  wouldDrop: 'AllowAction',
};

/** Every query over UDP comes to the end of one of these: together they are the table of verdicts. */
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

const BODY = `
local counters,buckets=floodgateCounters or {},{}
floodgateCounters=counters
local function text(word)
  if word=="-" then return "" end
  if #word%2~=0 or word:find("[^0-9a-f]") then error("a text is not hexadecimal",0) end
  return (word:gsub("..",function(pair) return string.char(tonumber(pair,16)) end))
end
local function reader(line)
  local next=line:gmatch("%S+")
  local this={}
  function this.word() return next() or error("a rule ends too early",0) end
  function this.number()
    local number=tonumber(this.word())
    if not number or number<0 or number>4294967295 or number~=math.floor(number) then error("a number is none",0) end
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
  if depth==0 then error("a rule is too deep",0) end
  local kind=kinds[from.word()] or error("a selector is unknown",0)
  return kind(from,depth-1)
end
local actions={
  tag=function(from) return SetTagAction(text(from.word()),text(from.word())) end,
  lookup=function(from) return KeyValueStoreLookupAction(floodgateKnown,KeyValueLookupKeyQName(true),text(from.word())) end,
}
local function ruleOf(line)
  local from=reader(line)
  local name=text(from.word())
  local action=(actions[from.word()] or error("an action is unknown",0))(from)
  return newRuleAction(selector(from,${MAX_DEPTH}),action,{name=name})
end
local verdicts={
${VERDICT_ROWS}
}
function floodgateApply(refusals,data,names)
  if names and floodgateKnownAt~=names then
    local file,why=io.open(names)
    if not file then error(why,0) end
    file:close()
    floodgateKnown=newCDBKVStore(names,1)
    floodgateKnownAt=names
  end
  if #data>${MAX_BYTES} then error("there are too many rules",0) end
  local rules={}
  local function add(rule) rules[#rules+1]=rule end
  for _,rule in ipairs(refusals) do add(rule) end
  add(newRuleAction(AllRule(),DnstapLogAction("floodgate",floodgateTap),{name="floodgate-tap"}))
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
      if line~="${RULES_HEAD}" then error("the rules are of another version",0) end
    elseif line=="${NAMES_NEEDED}" and not past then endOfAlways()
    elseif floodgateKnown or not past then add(ruleOf(line)) end
  end
  if not past then endOfAlways() end
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
  local done,why=pcall(floodgateApply,refusals,data,folder.."/${NAMES_FILE}")
  if done then infolog("floodgate: the last rules are in force")
  else errlog("floodgate: the last rules cannot be read, every query passes until Floodgate is back: "..tostring(why)) end
end
`;

/** What tells one loader from another. */
const VERSION = createHash('sha256').update(BODY).digest('hex').slice(0, 16);

/** The loader, where dnsdist does not have this one yet. */
export const RULES_LOADER = `if floodgateLoader~="${VERSION}" then do${BODY}end floodgateLoader="${VERSION}" end`;
