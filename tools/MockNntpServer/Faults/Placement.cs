using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>Dice that always fall the same way: pure functions of a seed and a place.</summary>
internal static class Placement
{
    /// <summary>Salt of jitter.</summary>
    public const ulong JitterSalt = 0x6A69747465720000;

    /// <summary>Salt of coverage.</summary>
    public const ulong CoverageSalt = 0x636F766572000000;

    /// <summary>Salt of the byte that a corrupt article has wrong.</summary>
    public const ulong DamageSalt = 0x64616D6167650000;

    /// <summary>Salt of a kind of fault, so that different kinds do not meet at the same articles.</summary>
    public static ulong Salt(FaultKind kind) => SyntheticContent.Mix(0xFA017 + (ulong)kind);

    /// <summary>A number from 0 inclusive to 1 exclusive.</summary>
    public static double Roll(ulong seed, int provider, ulong place, ulong salt, int attempt) =>
        (Bits(seed, provider, place, salt, attempt) >> 11) * (1.0 / (1UL << 53));

    /// <summary>64 bits.</summary>
    public static ulong Bits(ulong seed, int provider, ulong place, ulong salt, int attempt)
    {
        var state = SyntheticContent.Mix(seed ^ salt);
        state = SyntheticContent.Mix(state + (ulong)(uint)provider);
        state = SyntheticContent.Mix(state ^ place);
        return SyntheticContent.Mix(state + (ulong)(uint)attempt);
    }
}
