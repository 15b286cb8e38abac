using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>The unconfirmed copies of one segment. Keeps the checksums of their bytes, not the bytes.</summary>
/// <remarks>Belongs to one load, which disposes it at its end.</remarks>
internal sealed class DoubtfulCopies : IDisposable
{
    private readonly List<(uint Checksum, MessageId Id, int From)> _copies = [];
    private FileHabit? _asked;

    /// <summary>
    /// Whether a copy has the same bytes as a copy from another store or another article. A second copy from the same store also confirms, but only
    /// if no other store had different bytes.
    /// </summary>
    /// <param name="checksum">Checksum of the copy's bytes.</param>
    /// <param name="id">Message-id of the copy.</param>
    /// <param name="store">Providers that share the copy's store.</param>
    /// <param name="mayBeOfOne">Whether other stores were asked already, so that one store may confirm itself.</param>
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

    /// <summary>Adds a copy. Bounded by the requests: each provider gets two for each id and try.</summary>
    public void Add(uint checksum, MessageId id, int provider) => _copies.Add((checksum, id, provider));

    /// <summary>Returns the providers whose copies differ from the proved checksum.</summary>
    public IEnumerable<int> Liars(uint proved) => _copies.Where(copy => copy.Checksum != proved).Select(static copy => copy.From);

    /// <summary>Whether this load is the one whose second copy shows which evidence the file carries.</summary>
    /// <param name="habit">The habit of the file.</param>
    /// <param name="answer">The end of another load's question, if that load asks already.</param>
    public bool AsksAbout(FileHabit habit, [NotNullWhen(false)] out Task? answer)
    {
        answer = _asked is null ? habit.Ask() : null;
        if (answer is null)
            _asked = habit;
        return answer is null;
    }

    /// <summary>Lets the loads continue that wait for the answer of this one.</summary>
    public void Dispose()
    {
        _asked?.Answered();
        _asked = null;
    }
}
