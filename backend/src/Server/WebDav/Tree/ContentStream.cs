using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// A library stream that maps failures to <see cref="ContentUnavailableException"/>. Owns <paramref name="inner"/>. If <paramref name="translate"/>
/// returns null, the exception passes unchanged.
/// </summary>
internal class ContentStream(Stream inner, Func<Exception, ContentUnavailableException?> translate) : ForwardStream, IProvingStream
{
    public void WatchProof(Action headArrived) => (inner as IProvingStream)?.WatchProof(headArrived);

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        try
        {
            var read = inner.ReadAsync(buffer, cancellationToken);
            return read.IsCompletedSuccessfully ? read : TranslatedAsync(read);
        }
        catch (Exception failure) when (translate(failure) is { } known)
        {
            throw known;
        }
    }

    public override async ValueTask DisposeAsync()
    {
        await inner.DisposeAsync();
        await base.DisposeAsync();
    }

    /// <summary>Awaits a read and maps its failure.</summary>
    protected async ValueTask<int> TranslatedAsync(ValueTask<int> read)
    {
        try
        {
            return await read;
        }
        catch (Exception failure) when (translate(failure) is { } known)
        {
            throw known;
        }
    }
}

/// <summary>
/// A <see cref="ContentStream"/> over a stream that lends its blocks. <paramref name="inner"/> and <paramref name="lending"/> are the same stream.
/// </summary>
internal sealed class LendingContentStream(Stream inner, ILendingStream lending, Func<Exception, ContentUnavailableException?> translate)
    : ContentStream(inner, translate), ILendingStream
{
    public ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        var read = lending.LendAsync(loan, most, cancellationToken);
        return read.IsCompletedSuccessfully ? read : TranslatedAsync(read);
    }
}
