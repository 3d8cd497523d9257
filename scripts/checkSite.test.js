import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { faultsOfSite } from './checkSite.js';

const POLICY = `<meta http-equiv="Content-Security-Policy" content="default-src 'self'; img-src 'self'">`;
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-site-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @type {(file: string, text: string) => void} */
function write(file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), file.endsWith('.html') ? POLICY + text : text);
}

describe('faultsOfSite', () => {
  it('returns nothing if every link has a target', () => {
    write(
      'index.html',
      '<a href="/docs/">d</a><a class="a" href="./docs/a.html#one">a</a><a href="https://example.com">e</a>',
    );
    write('docs/index.html', '<a href="a">a</a><a href="../">up</a><a href="/deploy/x.conf">x</a>');
    write(
      'docs/a.html',
      '<h2 id="one">One</h2><a href="#one">1</a><img src="/a.png"><link rel="icon" href="/a.ico">',
    );
    write('deploy/x.conf', '');
    expect(faultsOfSite(folder)).toEqual([]);
  });

  it.each([
    ['<a href="/docs/b.html">b</a>', 'index.html has a link to /docs/b.html, which is not there'],
    ['<a href="#two">2</a>', 'index.html has a link to #two: there is no such heading'],
    ['<a href="/?a=b">a</a>', 'index.html has a link to /?a=b, which is not there'],
  ])('reports the broken link in %s', (html, fault) => {
    write('index.html', html);
    expect(faultsOfSite(folder)).toEqual([fault]);
  });

  it('reports a page without the Content-Security-Policy', () => {
    writeFileSync(join(folder, 'a.html'), 'text');
    expect(faultsOfSite(folder)).toEqual(['a.html lacks the Content-Security-Policy']);
  });
});
