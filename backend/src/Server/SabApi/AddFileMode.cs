using System.Globalization;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=addfile</c>. Odd content is accepted and fails later, in the history (SAB-22).</summary>
internal sealed class AddFileMode(NzbIntake intake) : ISabMode
{
    // SABnzbd's numbers for an item that waits until a client resumes it.
    private const int Paused = -2;
    private const int Stop = -4;

    /// <inheritdoc/>
    public string Name => "addfile";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        if (call.Upload is not { } upload)
        {
            await SabAnswer.ErrorAsync(call.Http, SabTexts.OneParameter);
            return;
        }

        var outcome = await intake.AcceptAsync(upload, Describe(call), call.Cancelled);
        await (outcome.Refusal switch
        {
            AddRefusal.QueueFull => SabAnswer.ErrorAsync(call.Http, SabTexts.QueueFull),
            AddRefusal.DiskFull => SabAnswer.ErrorAsync(call.Http, SabTexts.DiskFull),
            AddRefusal.TooLarge => SabAnswer.ErrorAsync(call.Http, SabTexts.TooLarge, StatusCodes.Status413PayloadTooLarge),
            AddRefusal.TooSlow => SabAnswer.ErrorAsync(call.Http, SabTexts.TooSlow, StatusCodes.Status408RequestTimeout),
            _ => SabAnswer.WriteAsync(
                call.Http,
                json =>
                {
                    json.WriteBoolean("status", true);
                    json.WriteStartArray("nzo_ids");
                    foreach (var id in outcome.Ids)
                        json.WriteStringValue(id);
                    json.WriteEndArray();
                }),
        });
    }

    private static NzbAddition Describe(SabCall call)
    {
        var parameters = call.Parameters;
        var priority = int.TryParse(parameters.Text("priority"), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) ? number : 0;
        var name = parameters.Text("nzbname");
        return new NzbAddition
        {
            FileName = call.UploadName,
            Name = name.Length == 0 ? null : name,
            Category = parameters.Text("cat", "category"),
            Priority = Enum.IsDefined((QueuePriority)priority) ? (QueuePriority)priority : QueuePriority.Normal,
            Paused = priority is Paused or Stop,
            Password = parameters.Text("password"),
            PostProcessing = int.TryParse(parameters.Text("pp"), NumberStyles.None, CultureInfo.InvariantCulture, out var pp) && pp is >= 0 and <= 3 ? pp : -1,
            Script = parameters.Text("script"),
        };
    }
}
