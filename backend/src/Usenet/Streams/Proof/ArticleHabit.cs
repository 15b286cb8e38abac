namespace Sluice.Usenet.Streams.Proof;

/// <summary>Whether the articles of a posted file carry one kind of evidence.</summary>
public enum Carries
{
    /// <summary>Not known yet. Articles are assumed to carry the evidence.</summary>
    Unknown,

    /// <summary>No article seen so far carries the evidence.</summary>
    Never,

    /// <summary>At least one article carries the evidence, so all others are expected to carry it too.</summary>
    Yes,
}

/// <summary>Which evidence the articles of a posted file carry. Evidence that a file never carries is not required of any of its articles.</summary>
/// <param name="Range">The byte range of the part.</param>
/// <param name="Checksum">A checksum that covers exactly the part.</param>
public readonly record struct ArticleHabit(Carries Number, Carries Range, Carries Checksum)
{
    private const int Bits = 2;
    private const int Mask = 3;

    /// <summary>Combines two habits. A field that one article carries counts for the whole file, because no field appears by accident.</summary>
    public ArticleHabit And(ArticleHabit other) => new(Later(Number, other.Number), Later(Range, other.Range), Later(Checksum, other.Checksum));

    public int Pack() => (int)Number | (int)Range << Bits | (int)Checksum << (2 * Bits);

    /// <summary>Reads a number from <see cref="Pack"/>; any other number gives an unknown habit, to be learned again.</summary>
    public static ArticleHabit Unpack(long packed)
    {
        if (packed is < 0 or > 0x3F)
            return default;
        var habit = new ArticleHabit((Carries)(packed & Mask), (Carries)(packed >> Bits & Mask), (Carries)(packed >> (2 * Bits)));
        return habit.Number > Carries.Yes || habit.Range > Carries.Yes || habit.Checksum > Carries.Yes ? default : habit;
    }

    private static Carries Later(Carries one, Carries other) => one > other ? one : other;
}
