using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// The unconfirmed copies of one segment: the checksums of their bytes, never the bytes.
/// </summary>
/// <remarks>Of one load, which disposes it at its end.</remarks>
internal sealed class DoubtfulCopies : IDisposable
{
    private readonly List<(uint Checksum, MessageId Id, int From)> _copies = [];
    private FileHabit? _asked;

    /// <summary>
    /// Whether a copy has the same bytes as one of another store or another article. One of the same does as well where no other was
    /// seen; where another has other bytes, one store that says the same twice decides nothing.
    /// </summary>
    /// <param name="checksum">Of its bytes.</param>
    /// <param name="id">Its article.</param>
    /// <param name="store">The providers that have it from the same store.</param>
    /// <param name="mayBeOfOne">Whether other stores have been asked.</param>
    public bool Confirm(uint checksum, MessageId id, ProviderSet store, bool mayBeOfOne)
    {
        var (isKnown, isAlone) = (false, true);
        foreach (var copy in _copies)
        {
            var isOther = copy.Id != id || !store.Contains(copy.From);
            if (isOther && copy.Checksum == checksum)
                return true;
            isKnown |= copy.Checksum == checksum;
            isAlone &= !isOther;
        }

        return isKnown && isAlone && mayBeOfOne;
    }

    /// <summary>Adds one. There are no more than questions, of which each provider gets two for each id and try.</summary>
    public void Add(uint checksum, MessageId id, int provider) => _copies.Add((checksum, id, provider));

    /// <summary>The providers whose copies had other bytes than the segment turned out to have.</summary>
    /// <param name="proved">The checksum of the bytes of the segment.</param>
    public IEnumerable<int> Liars(uint proved) => _copies.Where(copy => copy.Checksum != proved).Select(static copy => copy.From);

    /// <summary>Whether this load is the one whose second copy shows what the file carries.</summary>
    /// <param name="habit">Of the file.</param>
    /// <param name="answer">Where another load is: the end of its question.</param>
    public bool AsksAbout(FileHabit habit, [NotNullWhen(false)] out Task? answer)
    {
        answer = _asked is null ? habit.Ask() : null;
        if (answer is null)
            _asked = habit;
        return answer is null;
    }

    /// <summary>The loads that wait for the answer of this one go on.</summary>
    public void Dispose()
    {
        _asked?.Answered();
        _asked = null;
    }
}
