/** Where the page begins. */

import './styles.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { sayError } from './shell/notices.tsx'

// Parts are loaded when they are first shown; after an update of the service the old ones are gone.
window.addEventListener('vite:preloadError', () => {
  sayError('A part of the page could not be loaded: the service was updated or is away. Reload the page in a moment.')
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
