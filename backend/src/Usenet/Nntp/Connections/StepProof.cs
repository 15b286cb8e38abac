using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// Whether a miss may be believed. It names no article, so that it may be the answer to another command: it is proved once every command
/// that was outstanding when it came has been answered in its order, and refuted when the connection ends before.
/// </summary>
/// <remarks>Thread-safe. Settled once, by the connection.</remarks>
/// <param name="id">What is missed; empty for several articles.</param>
/// <param name="until">Proved once so many replies of the connection have ended.</param>
internal sealed class StepProof(MessageId id, long until)
{
    private readonly TaskCompletionSource _settled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isProved;

    public MessageId Id => id;

    public long Until => until;

    /// <summary>Ends when it is proved or refuted; never fails.</summary>
    public Task Settled => _settled.Task;

    public bool IsProved => _settled.Task.IsCompleted && _isProved;

    public bool IsRefuted => _settled.Task.IsCompleted && !_isProved;

    public void Settle(bool isProved)
    {
        _isProved = isProved;
        _settled.SetResult();
    }
}
