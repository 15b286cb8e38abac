namespace Sluice.Usenet.Streams.Maps;

/// <summary>Whether the articles of a posted file carry one kind of evidence.</summary>
public enum Carries
{
    /// <summary>Not known. They are taken to carry it.</summary>
    Unknown,

    /// <summary>None that has been seen does.</summary>
    Never,

    /// <summary>Some do, so that an article without it has lost it.</summary>
    Yes,
}

/// <summary>What the articles of a posted file say of themselves. What a file never carries is not missed in any of its articles.</summary>
/// <param name="Number">The number of the part.</param>
/// <param name="Range">The range of the part.</param>
/// <param name="Checksum">A checksum that covers exactly the part.</param>
public readonly record struct ArticleHabit(Carries Number, Carries Range, Carries Checksum)
{
    private const int Bits = 2;
    private const int Mask = 3;

    /// <summary>Both together: a field that one article carries is one of the file, and a field is never there only where it was looked for.</summary>
    public ArticleHabit And(ArticleHabit other) => new(Later(Number, other.Number), Later(Range, other.Range), Later(Checksum, other.Checksum));

    /// <summary>The habit as a number for a store.</summary>
    public int Pack() => (int)Number | (int)Range << Bits | (int)Checksum << (2 * Bits);

    /// <summary>Reads what <see cref="Pack"/> gave. Of anything else nothing is known, and it is learned again.</summary>
    public static ArticleHabit Unpack(long packed)
    {
        if (packed is < 0 or > 0x3F)
            return default;
        var habit = new ArticleHabit((Carries)(packed & Mask), (Carries)(packed >> Bits & Mask), (Carries)(packed >> (2 * Bits)));
        return habit.Number > Carries.Yes || habit.Range > Carries.Yes || habit.Checksum > Carries.Yes ? default : habit;
    }

    private static Carries Later(Carries one, Carries other) => one > other ? one : other;
}
