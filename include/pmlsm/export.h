// PMLSM_EXPORT marks the symbols that libpmlsm.so shows; everything else is hidden.
#pragma once

#define PMLSM_EXPORT [[gnu::visibility("default")]]
