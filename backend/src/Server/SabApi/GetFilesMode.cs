using System.Globalization;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=get_files</c>: the files of an item, streamed while its NZB is being parsed.</summary>
internal sealed class GetFilesMode(QueueStore store, QueueActivity activity, StoredNzbReader nzbs, TimeProvider time) : ISabMode
{
    private const string IdPrefix = "SABnzbd_nzf_";

    public string Name => "get_files";

    public async Task AnswerAsync(SabCall call)
    {
        var id = call.Parameters.Text("value");
        if (id.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
            return;
        }

        using var answer = SabAnswer.Begin(call);
        answer.Writer.BeginList("files");
        if (await store.FindAsync(id, call.Cancelled) is { NzbHash.Length: > 0 } item)
            await WriteAsync(call, answer, item);
        answer.Writer.EndList();
        await answer.CompleteAsync();
    }

    private async Task WriteAsync(SabCall call, SabReply answer, QueueItem item)
    {
        var percent = activity.Current.GetValueOrDefault(item.Id)?.Percent;
        try
        {
            var (own, ordinal) = (item.Id[(item.Id.LastIndexOf('_') + 1)..], 0);
            await foreach (var file in nzbs.ReadAsync(item.NzbHash, new NzbHead(), call.Cancelled))
            {
                Write(answer.Writer, file, string.Create(CultureInfo.InvariantCulture, $"{IdPrefix}{own}_{ordinal++}"), percent);
                await answer.SendIfDueAsync();
            }
        }
        catch (Exception e) when (e is NzbFormatException or StoredNzbLostException)
        {
            // Respond with the files before the error, because the import reports the error in the history.
        }
    }

    private void Write(ISabWriter to, NzbFile file, string id, int? percent)
    {
        var bytes = file.Segments.Sum(segment => (long)segment.Bytes);
        var left = QueueSummary.BytesLeft(bytes, percent ?? 0);
        to.BeginObject();
        to.Field("filename", NzbSubject.Parse(file.Subject).FileName ?? file.Subject);
        to.Field("mbleft", SabUnits.Mebibytes(left));
        to.Field("mb", SabUnits.Mebibytes(bytes));
        to.Field("bytes", bytes.ToString("0.00", CultureInfo.InvariantCulture));
        to.Field("age", SabUnits.Age(file.Date, time.WallTime()));
        to.Field("nzf_id", id);
        to.Field("status", percent is null ? "queued" : "active");
        to.EndObject();
    }
}
