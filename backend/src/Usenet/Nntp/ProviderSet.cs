namespace Sluice.Usenet.Nntp;

/// <summary>A set of provider indexes of one pool, for example the providers that must not be asked. Immutable value; indexes 0 to 63.</summary>
public readonly record struct ProviderSet
{
    /// <summary>Maximum number of providers in one pool.</summary>
    public const int MaxProviders = 64;

    private readonly ulong _bits;

    private ProviderSet(ulong bits) => _bits = bits;

    public int Count => System.Numerics.BitOperations.PopCount(_bits);

    public bool Contains(int provider) => (_bits >> provider & 1) != 0;

    public ProviderSet With(int provider) => new(_bits | 1UL << provider);

    public ProviderSet Or(ProviderSet other) => new(_bits | other._bits);

    public ProviderSet Without(int provider) => new(_bits & ~(1UL << provider));
}
