import { expect, it } from 'vitest';
import { type Hit, MAX_HITS, matchingHits } from './hit.ts';

const hit = (kind: string, title: string, note?: string): Hit => ({
  kind,
  title,
  open: '/',
  ...(note !== undefined && { note }),
});
const hits = [hit('Page', 'Rules'), hit('Rule', 'region WEUR', 'monitoring'), hit('Zone', 'weur.example')];
const titles = (text: string) => matchingHits(hits, text).map(({ title }) => title);

it('a search finds hits that contain all words, in any case, and titles that begin with the text first', () => {
  expect(titles('weur')).toEqual(['weur.example', 'region WEUR']);
  expect(titles('MONITORING rule')).toEqual(['region WEUR']);
  expect(titles('monitoring zone')).toEqual([]);
  expect(titles('  ')).toEqual(['Rules', 'region WEUR', 'weur.example']);
});

it('a search returns at most 20 hits', () => {
  expect(matchingHits(Array(500).fill(hits[0]), 'rules')).toHaveLength(MAX_HITS);
});
