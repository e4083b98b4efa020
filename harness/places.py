"""Where things lie in a checkout."""

from dataclasses import dataclass
from pathlib import Path

REPOSITORY_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Places:
    """Folders of one checkout; tests point `root` at a folder of their own."""

    root: Path = REPOSITORY_ROOT

    @property
    def scenarios(self) -> Path:
        return self.root / "scenarios"

    @property
    def load_profiles(self) -> Path:
        return self.scenarios / "profiles" / "load"

    @property
    def service_profiles(self) -> Path:
        return self.scenarios / "profiles" / "service"

    @property
    def results(self) -> Path:
        return self.root / "build" / "results"

    @property
    def release_build(self) -> Path:
        return self.root / "build" / "release"

    @property
    def tuning_script(self) -> Path:
        return self.root / "host-tuning" / "tune-benchmark-host.sh"


def known_names(folder: Path) -> list[str]:
    """Names of the profiles in `folder`, sorted."""
    return sorted(path.stem for path in folder.glob("*.toml"))
