using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>Deterministic random numbers: pure functions of seed and article or connection.</summary>
internal static class Placement
{
    public const ulong JitterSalt = 0x6A69747465720000;

    public const ulong CoverageSalt = 0x636F766572000000;

    /// <summary>Salt that chooses the wrong byte of a corrupt article.</summary>
    public const ulong DamageSalt = 0x64616D6167650000;

    /// <summary>Salt of a kind of fault, so that different kinds do not hit the same articles.</summary>
    public static ulong Salt(FaultKind kind) => SyntheticContent.Mix(0xFA017 + (ulong)kind);

    /// <summary>Returns a number from 0 (inclusive) to 1 (exclusive).</summary>
    public static double Roll(ulong seed, int provider, ulong place, ulong salt, int attempt) =>
        (Bits(seed, provider, place, salt, attempt) >> 11) * (1.0 / (1UL << 53));

    public static ulong Bits(ulong seed, int provider, ulong place, ulong salt, int attempt)
    {
        var state = SyntheticContent.Mix(seed ^ salt);
        state = SyntheticContent.Mix(state + (ulong)(uint)provider);
        state = SyntheticContent.Mix(state ^ place);
        return SyntheticContent.Mix(state + (ulong)(uint)attempt);
    }
}
