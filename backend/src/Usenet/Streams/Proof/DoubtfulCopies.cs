using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>The unconfirmed copies of one segment. Keeps the checksums of their bytes, not the bytes.</summary>
/// <remarks>Belongs to one load, which disposes it when the load ends.</remarks>
internal sealed class DoubtfulCopies : IDisposable
{
    private readonly List<(uint Checksum, MessageId Id, int From)> _copies = [];
    private FileHabit? _claimed;

    /// <summary>
    /// Whether a copy has the same bytes as a copy from another store or another article. A second copy from one store confirms only if other stores
    /// were asked already (<paramref name="mayBeOfOne"/>) and none had different bytes.
    /// </summary>
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

    /// <summary>Adds a copy. The list is bounded, because each provider gets at most two requests per id and try.</summary>
    public void Add(uint checksum, MessageId id, int provider) => _copies.Add((checksum, id, provider));

    public IEnumerable<int> FindProvidersUnlike(uint proved) => _copies.Where(copy => copy.Checksum != proved).Select(static copy => copy.From);

    /// <summary>Whether this load must find out which evidence the file carries; if not, <paramref name="answer"/> ends with the load that does.</summary>
    public bool TryClaimQuestion(FileHabit habit, [NotNullWhen(false)] out Task? answer)
    {
        answer = _claimed is null ? habit.ClaimQuestion() : null;
        if (answer is null)
            _claimed = habit;
        return answer is null;
    }

    /// <summary>Releases the loads that wait for this load's answer.</summary>
    public void Dispose()
    {
        _claimed?.EndQuestion();
        _claimed = null;
    }
}
