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

describe('a site', () => {
  it('is whole where every link leads somewhere', () => {
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
    write('assets/a.css', 'a { background: url("/a.png") } b { background: url(data:image/png;base64,aa) }');
    expect(faultsOfSite(folder)).toEqual([]);
  });

  it.each([
    ['<a href="/docs/b.html">b</a>', 'index.html has a link to /docs/b.html, which is not there'],
    ['<a href="#two">2</a>', 'index.html has a link to #two: there is no such heading'],
    ['<a href="/?a=b">a</a>', 'index.html has a link to /?a=b, which is not there'],
    ['<script async src="https://example.com/a.js">', 'index.html loads https://example.com/a.js'],
    ['<link rel="stylesheet" href="//fonts.example.com/a">', 'index.html loads //fonts.example.com/a'],
    ['<img alt="a" src="http://example.com/a.png">', 'index.html loads http://example.com/a.png'],
    [
      '<style>a{background:url(https://example.com/a.png)}</style>',
      'index.html loads https://example.com/a.png',
    ],
  ])('is told what is wrong with %s', (html, fault) => {
    write('index.html', html);
    expect(faultsOfSite(folder)).toEqual([fault]);
  });

  it('is told of styles that load from elsewhere, and of pages without the policy', () => {
    write('assets/a.css', '@import "https://example.com/a.css";');
    writeFileSync(join(folder, 'a.html'), 'text');
    expect(faultsOfSite(folder)).toEqual([
      'a.html lacks the policy that forbids to load from elsewhere',
      'assets/a.css loads https://example.com/a.css',
    ]);
  });
});
