namespace Sluice.Server.Diagnostics;

/// <summary>Messages about the process and its requests, ids 1200 to 1299.</summary>
internal static partial class DiagnosticsLog
{
    [LoggerMessage(1202, LogLevel.Error, "{Method} {Path} failed")]
    public static partial void RequestFailed(ILogger logger, Exception failure, string method, string path);

    [LoggerMessage(1203, LogLevel.Error, "Background work failed: {Work}. Restarting in {Seconds} s")]
    public static partial void WorkFailed(ILogger logger, Exception failure, string work, double seconds);

    [LoggerMessage(1204, LogLevel.Debug, "Background work failed again: {Work}: {Cause}. Restarting in {Seconds} s")]
    public static partial void WorkFailedAgain(ILogger logger, string work, double seconds, string cause);

    [LoggerMessage(1205, LogLevel.Error, "A startup or shutdown step failed and was skipped: {Work}")]
    public static partial void StepFailed(ILogger logger, Exception failure, string work);

    [LoggerMessage(1206, LogLevel.Debug, "{Method} {Path} from {Client}: {Status} after {Milliseconds} ms")]
    public static partial void Request(ILogger logger, string method, string path, string client, int status, string milliseconds);

    [LoggerMessage(1207, LogLevel.Information, "Compiled for {Instructions}. Decoding with {Kernel}, checksums with {Checksum}")]
    public static partial void Kernels(ILogger logger, string instructions, string kernel, string checksum);

    [LoggerMessage(1208, LogLevel.Warning, "Could not save {What}: {Cause}. Retrying as soon as the storage works again")]
    public static partial void NoteDeferred(ILogger logger, string what, string cause);

    [LoggerMessage(1209, LogLevel.Information, "Saved {What} after the storage recovered")]
    public static partial void NoteWritten(ILogger logger, string what);
}
