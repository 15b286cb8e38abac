using System.Threading.Channels;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Records the results of startup: proven settings, generated keys, a password reset, the environment's administrator. If the storage fails, the notes are
/// written after recovery, so that a full or read-only disk never prevents startup (F34).
/// </summary>
/// <remarks>Notes are written in call order. Calls to <see cref="WriteAsync"/> must not overlap.</remarks>
internal sealed class StartNotes(DataFolder folder, StorageState state, TimeProvider time, ILogger<StartNotes> logger) : IWorker
{
    private readonly Channel<Note> _pending = Channel.CreateUnbounded<Note>(new UnboundedChannelOptions { SingleReader = true });

    // Once a note is pending, later notes queue behind it, because their order must not change.
    private bool _defers;

    public string Name => "the notes of the start";

    /// <summary>Writes a note now, or after the storage recovers. <paramref name="write"/> may be called several times.</summary>
    public async Task WriteAsync(string what, Func<CancellationToken, Task> write, CancellationToken cancellationToken)
    {
        var note = new Note(what, write);
        if (!_defers && await TryAsync(note, cancellationToken) is { } fault)
        {
            _defers = true;
            DiagnosticsLog.NoteDeferred(logger, what, fault.Message);
        }
        else if (!_defers)
        {
            return;
        }

        _pending.Writer.TryWrite(note);
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        while (await _pending.Reader.WaitToReadAsync(stopping))
        {
            var passed = state.NextRecovery;
            // The note stays queued until it is written, even if an exception ends this run.
            if (!_pending.Reader.TryPeek(out var note))
                continue;
            if (await TryAsync(note, stopping) is not null)
            {
                await WaitAsync(passed, stopping);
                continue;
            }

            _pending.Reader.TryRead(out _);
            DiagnosticsLog.NoteWritten(logger, note.What);
        }
    }

    /// <summary>Waits for recovery, but at most one <see cref="StorageWatch"/> interval, because StorageWatch does not check individual files.</summary>
    private async Task WaitAsync(Task passed, CancellationToken stopping)
    {
        try
        {
            await passed.WaitAsync(StorageWatch.Pause, time, stopping);
        }
        catch (TimeoutException)
        {
            // The next attempt shows whether the fault persists.
        }
    }

    /// <returns>The fault that prevented the note; null if the note was written, or if safe mode makes it pointless.</returns>
    private async Task<StorageException?> TryAsync(Note note, CancellationToken cancellationToken)
    {
        try
        {
            await note.Write(cancellationToken);
            return null;
        }
        catch (DatabaseLostException)
        {
            // Safe mode is reported separately, and the next startup with an intact database writes its own notes.
            return null;
        }
        catch (StorageException fault)
        {
            // DurableFolder and SluiceDatabase have already reported the fault.
            return fault;
        }
        catch (Exception e) when (StorageException.From(e, folder.Root) is { } fault)
        {
            state.Note(fault);
            return fault;
        }
    }

    private sealed record Note(string What, Func<CancellationToken, Task> Write);
}
