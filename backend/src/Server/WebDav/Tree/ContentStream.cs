using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// A stream of the library whose failures cross the seam as <see cref="ContentUnavailableException"/>. Owns the stream below.
/// Unknown exceptions pass unchanged.
/// </summary>
/// <param name="inner">The stream below; disposed asynchronously with this one.</param>
/// <param name="translate">The exception for the client, or null for an unknown one.</param>
internal sealed class ContentStream(Stream inner, Func<Exception, ContentUnavailableException?> translate) : ForwardStream
{
    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        try
        {
            var read = inner.ReadAsync(buffer, cancellationToken);
            return read.IsCompletedSuccessfully ? read : AwaitAsync(read);
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

    private async ValueTask<int> AwaitAsync(ValueTask<int> read)
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
