using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// A stream of the library whose failures cross the seam as <see cref="ContentUnavailableException"/>. Owns the stream below.
/// Unknown exceptions pass unchanged.
/// </summary>
/// <param name="inner">The stream below; disposed asynchronously with this one.</param>
/// <param name="translate">The exception for the client, or null for an unknown one.</param>
internal class ContentStream(Stream inner, Func<Exception, ContentUnavailableException?> translate) : ForwardStream, IProvingStream
{
    /// <inheritdoc/>
    public void WatchProof(Action headArrived) => (inner as IProvingStream)?.WatchProof(headArrived);

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override async ValueTask DisposeAsync()
    {
        await inner.DisposeAsync();
        await base.DisposeAsync();
    }

    /// <summary>The end of a read, its failure translated.</summary>
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

/// <summary>The same over a stream that lends its bytes.</summary>
/// <param name="inner">The stream below; disposed asynchronously with this one.</param>
/// <param name="lending">The same stream.</param>
/// <param name="translate">The exception for the client, or null for an unknown one.</param>
internal sealed class LendingContentStream(Stream inner, ILendingStream lending, Func<Exception, ContentUnavailableException?> translate)
    : ContentStream(inner, translate), ILendingStream
{
    /// <inheritdoc/>
    public ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        var read = lending.LendAsync(loan, most, cancellationToken);
        return read.IsCompletedSuccessfully ? read : TranslatedAsync(read);
    }
}
