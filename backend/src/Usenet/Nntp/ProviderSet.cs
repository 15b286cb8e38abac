namespace Sluice.Usenet.Nntp;

/// <summary>A set of providers by their index in the pool, for fetches that must not ask some of them (again).</summary>
/// <remarks>Immutable value; indexes 0 to 63, the most providers a pool takes.</remarks>
public readonly record struct ProviderSet
{
    /// <summary>Most providers that one pool takes.</summary>
    public const int MaxProviders = 64;

    private readonly ulong _bits;

    private ProviderSet(ulong bits) => _bits = bits;

    /// <summary>How many providers the set holds.</summary>
    public int Count => System.Numerics.BitOperations.PopCount(_bits);

    /// <summary>Whether the provider of this index is in the set.</summary>
    public bool Contains(int provider) => (_bits >> provider & 1) != 0;

    /// <summary>The set with one more provider.</summary>
    public ProviderSet With(int provider) => new(_bits | 1UL << provider);

    /// <summary>The providers of both sets.</summary>
    public ProviderSet Or(ProviderSet other) => new(_bits | other._bits);

    /// <summary>The set with one provider less.</summary>
    public ProviderSet Without(int provider) => new(_bits & ~(1UL << provider));
}
