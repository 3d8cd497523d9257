#!/usr/bin/env node
import { constants, setPriority } from 'node:os';
import './heapLimits.ts';
import './compileCache.ts';

// The server that is copied comes first, before what loading the command takes, too.
if (process.argv[2] === 'backup') setPriority(constants.priority.PRIORITY_LOW);

// Loaded once what was compiled of it before can be taken.
void import('./run.ts');
