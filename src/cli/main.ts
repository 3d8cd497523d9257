#!/usr/bin/env node
import './heapLimits.ts';
import './compileCache.ts';

// Loaded once what was compiled of it before can be taken.
void import('./run.ts');
