using System.Threading.Channels;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Writes what a start has to record after the listener runs: proven settings, generated keys, a password reset, the administrator of the
/// environment. A note is written at once if the storage allows it, and otherwise as soon as the fault has passed, so that a full or
/// read-only disk never ends a start (F34).
/// </summary>
/// <remarks>Notes are written in the order of the calls. <see cref="WriteAsync"/> is called by one caller at a time, the start.</remarks>
internal sealed class StartNotes(DataFolder folder, StorageState state, TimeProvider time, ILogger<StartNotes> logger) : IWorker
{
    private readonly Channel<Note> _pending = Channel.CreateUnbounded<Note>(new UnboundedChannelOptions { SingleReader = true });

    // Once one note waits, all later ones wait behind it.
    private bool _defers;

    /// <inheritdoc/>
    public string Name => "the notes of the start";

    /// <summary>Writes a note now, or keeps it until the storage works again.</summary>
    /// <param name="what">The note in a few words, for the log.</param>
    /// <param name="write">Writes it; called again after a fault of the storage, so it must not count on being called once.</param>
    /// <param name="cancellationToken">Ends the first try.</param>
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

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        while (await _pending.Reader.WaitToReadAsync(stopping))
        {
            var passed = state.NextPassed;
            // The note stays first in line until it is written, whatever ends this run.
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

    /// <summary>Waits until a fault of the storage has passed, or as long as <see cref="StorageWatch"/> does: it knows folders and the database, not single files.</summary>
    private async Task WaitAsync(Task passed, CancellationToken stopping)
    {
        try
        {
            await passed.WaitAsync(StorageWatch.Pause, time, stopping);
        }
        catch (TimeoutException)
        {
            // The next try tells whether the fault lasts.
        }
    }

    /// <returns>The fault that kept the note from being written; null if it was written, or safe mode has made it pointless.</returns>
    private async Task<StorageException?> TryAsync(Note note, CancellationToken cancellationToken)
    {
        try
        {
            await note.Write(cancellationToken);
            return null;
        }
        catch (DatabaseLostException)
        {
            // Safe mode explains itself; the next start with a sound database writes its own notes.
            return null;
        }
        catch (StorageException fault)
        {
            // DurableFolder and SluiceDatabase have told StorageState of theirs already.
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
