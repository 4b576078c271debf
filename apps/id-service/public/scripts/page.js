import './first-theme.js';
import { main } from './main.js';

document.addEventListener('DOMContentLoaded', main);
