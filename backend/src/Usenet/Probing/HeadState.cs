namespace Sluice.Usenet.Probing;

/// <summary>What became of the probe of a posted file.</summary>
public enum HeadState
{
    /// <summary>The head arrived.</summary>
    Found,

    /// <summary>No provider has the first article, or it was never posted.</summary>
    Missing,

    /// <summary>What came in place of the first article is damaged or another article, at every provider that has it.</summary>
    Corrupt,

    /// <summary>Not asked for: PAR2 by name, or a later volume of a set whose first one was asked for.</summary>
    Skipped,
}
